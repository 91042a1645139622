import { CircleCheck, Pencil, RotateCcw, Trash2 } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { asProblem } from "../api/problem";
import type { Comment, Problem } from "../api/types";
import { me } from "../identity/me";
import { saveEdit } from "../shared/edits";
import { IconButton } from "../shared/icon_button";
import { orSay } from "../shared/or_say";
import { ProblemBox } from "../shared/problem_box";
import { moment } from "../shared/time";
import { say } from "../shared/toasts";
import { CommentForm } from "./comment_form";
import {
  addComment,
  changeComment,
  deleteComment,
  listComments,
  listPeople,
  type Thing,
} from "./comments_api";
import { keepCount } from "./counts";
import { commentTexts } from "./texts";
import "./comments.css";

const LOOK_MS = 15_000;

/** The comments on a thing, oldest first, and a form for another. Looks for those of others meanwhile. */
export default function Thread({ thing }: { thing: Thing }) {
  const { comments, people, problem, load } = useComments(thing);
  const scopes = me.value?.scopes ?? [];
  const mayWrite = scopes.includes("ask") || scopes.includes("admin");
  const add = async (text: string) => {
    await addComment(thing, text);
    say(commentTexts.added);
    await load();
  };
  return (
    <div class="comment-thread">
      {problem && <ProblemBox problem={problem} onRetry={() => void load()} />}
      {comments?.length === 0 && <p class="quiet">{commentTexts.none}</p>}
      <ol>
        {comments?.map((each) => (
          <Entry
            key={each.id}
            comment={each}
            thing={thing}
            people={people}
            mayWrite={mayWrite}
            onChange={load}
          />
        ))}
      </ol>
      {mayWrite && <CommentForm people={people} onSend={add} />}
    </div>
  );
}

function useComments(thing: Thing) {
  const [comments, setComments] = useState<Comment[] | null>(null);
  const [people, setPeople] = useState<string[]>([]);
  const [problem, setProblem] = useState<Problem | null>(null);
  const load = async () => {
    try {
      const found = await listComments(thing);
      setComments(found);
      setProblem(null);
      keepCount(thing.thingId, found.filter((each) => each.resolved_at === null).length);
    } catch (error) {
      setProblem(asProblem(error));
    }
  };
  useEffect(() => {
    void load();
    listPeople(thing).then(setPeople, () => undefined);
    const looking = setInterval(() => document.visibilityState === "visible" && void load(), LOOK_MS);
    return () => clearInterval(looking);
  }, [thing.thingId]);
  return { comments, people, problem, load };
}

interface Shown {
  comment: Comment;
  thing: Thing;
  people: string[];
  mayWrite: boolean;
  onChange: () => Promise<void>;
}

/** One comment. Its text is shown as it was written. */
function Entry({ comment, thing, people, mayWrite, onChange }: Shown) {
  /** The version whose text is being edited. */
  const [editing, edit] = useState<number | null>(null);
  const { id, author, own, text, created_at, edited_at, resolved_at, resolved_by } = comment;
  const resolve = async () => {
    await changeComment(thing, id, { resolved: resolved_at === null });
    await onChange();
  };
  const save = async (mine: string) => {
    await saveEdit({
      version: editing ?? comment.version,
      send: (version) => changeComment(thing, id, { text: mine }, version),
      read: async () => (await listComments(thing)).find((each) => each.id === id),
      beside: (theirs) => [{ name: commentTexts.text, mine, theirs: theirs.text }],
    });
    edit(null);
    await onChange();
  };
  const remove = async () => {
    await deleteComment(id);
    say(commentTexts.removed);
    await onChange();
  };
  const mayRemove = own || thing.linkId === undefined;
  const about = [edited_at && commentTexts.edited, resolved_by && commentTexts.resolved(resolved_by)];
  return (
    <li data-resolved={resolved_at !== null}>
      <div class="comment-head">
        <strong>{own ? commentTexts.you : author}</strong>{" "}
        <time class="quiet" dateTime={created_at}>
          {moment(created_at)}
        </time>
        <span class="quiet">{about.filter(Boolean).join(" · ")}</span>
        {mayWrite && (
          <span class="comment-actions">
            <IconButton
              label={(resolved_at === null ? commentTexts.resolve : commentTexts.reopen)(author)}
              icon={resolved_at === null ? CircleCheck : RotateCcw}
              size={15}
              onClick={() => orSay(resolve())}
            />
            {own && (
              <IconButton
                label={commentTexts.edit}
                icon={Pencil}
                size={15}
                expanded={editing !== null}
                onClick={() => edit(editing === null ? comment.version : null)}
              />
            )}
            {mayRemove && (
              <IconButton
                label={own ? commentTexts.removeOwn : commentTexts.remove(author)}
                icon={Trash2}
                size={15}
                onClick={() => confirm(commentTexts.sure) && orSay(remove())}
              />
            )}
          </span>
        )}
      </div>
      {editing !== null ? (
        <CommentForm people={people} given={text} onSend={save} onCancel={() => edit(null)} />
      ) : (
        <p class="comment-text">{text}</p>
      )}
    </li>
  );
}
