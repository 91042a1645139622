import { Download } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { exportMemory, listConsents, readGraphMemory, readProfile } from "../api/client";
import { asProblem } from "../api/problem";
import type { Consent, GraphMemory, Problem, Profile } from "../api/types";
import { connections, refreshConnections } from "../connections/connections";
import { download } from "../shared/files";
import { Icon } from "../shared/icon";
import { orSay } from "../shared/or_say";
import { ProblemBox } from "../shared/problem_box";
import { Tabs } from "../shared/tabs";
import { texts } from "../shared/texts";
import { FactsList } from "./facts_list";
import { ForgetEverything } from "./forget_everything";
import { Outside } from "./outside";
import { PastConversations } from "./past_conversations";
import { ProfileView } from "./profile";
import "../connections/connections.css";
import "../knowledge/knowledge.css";
import "./memory.css";
import { memoryTexts } from "./texts";

const PARTS = ["facts", "profile", "past", "outside"] as const;
type Part = (typeof PARTS)[number];

interface Known {
  profile: Profile;
  graph: GraphMemory;
  consents: Consent[];
}

/** What KAI remembers of the caller: seen, changed, exported and forgotten. */
export default function MemoryPage() {
  const [shown, show] = useState<Part>("facts");
  const [version, setVersion] = useState(0);
  const { known, problem, load } = useKnown(version);
  const onChange = () => setVersion((before) => before + 1);
  useEffect(() => {
    document.title = `${texts.memory.title} · ${texts.product}`;
    if (connections.value === null) void refreshConnections();
  }, []);
  const isUsed = known !== null && (known.graph.enabled || known.consents.length > 0);
  const tabs = PARTS.filter((each) => each !== "outside" || isUsed).map((key) => ({
    key,
    label: memoryTexts.parts[key],
  }));
  return (
    <div class="page">
      <header class="page-head">
        <div>
          <h1>{texts.memory.title}</h1>
          <p class="quiet">{memoryTexts.lead}</p>
        </div>
        <div class="page-actions">
          <Export />
          <ForgetEverything onChange={onChange} />
        </div>
      </header>
      {problem && <ProblemBox problem={problem} onRetry={() => void load()} />}
      <Tabs label={memoryTexts.tabs} tabs={tabs} shown={shown} show={show}>
        {shown === "facts" && <FactsList version={version} onChange={onChange} />}
        {shown === "profile" && known && <ProfileView profile={known.profile} onChange={onChange} />}
        {shown === "past" && <PastConversations key={version} />}
        {shown === "outside" && known && (
          <Outside graph={known.graph} consents={known.consents} onChange={load} />
        )}
      </Tabs>
    </div>
  );
}

/** What is known beside facts and conversations. */
function useKnown(version: number) {
  const [known, setKnown] = useState<Known | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const load = async () => {
    setProblem(null);
    try {
      const [profile, graph, consents] = await Promise.all([
        readProfile(),
        readGraphMemory(),
        listConsents(),
      ]);
      setKnown({ profile, graph, consents });
    } catch (error) {
      setProblem(asProblem(error));
    }
  };
  useEffect(() => void load(), [version]);
  return { known, problem, load };
}

function Export() {
  const save = async () => download(await exportMemory(), "kai-memory.json");
  return (
    <button type="button" class="button" onClick={() => orSay(save())}>
      <Icon of={Download} /> {memoryTexts.export}
    </button>
  );
}
