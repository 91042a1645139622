"""What KAI adds to a call of an MCP server: `python -m tests.bench.mcp_calls`.

The same tool of the same server, called by the SDK's client alone and by KAI, in turns. KAI compares the tool
with its approval before each call, in the server and in the store.
"""

import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from ipaddress import ip_network
from pathlib import Path

from mcp import Client, StdioServerParameters

from app.core.storage.sqlite import open_sqlite
from app.modules.mcp.approvals import McpApprovals
from app.modules.mcp.config import McpConfiguration, read_servers
from app.modules.mcp.connection import McpConnection
from app.modules.mcp.servers import McpServers, connected_servers
from migrations.runner import migrate
from tests.support.mcp_servers import ROOT, ScriptedMcp, scripted_mcp
from tests.support.waiting import until

CALLS = 200
LIMIT_MS = 10.0


async def measure(
    name: str, folder: Path, entry: dict[str, object], alone: StdioServerParameters | str
) -> None:
    file = folder / f"{name}.json"
    file.write_text(json.dumps({"mcpServers": {"other": entry}}))
    settings = McpConfiguration(
        servers=read_servers(file),
        networks=(ip_network("127.0.0.0/8"),),
        call_seconds=30,
        check_seconds=300,
    )
    async with open_sqlite(folder / f"{name}.db") as storage:
        await migrate(storage)
        servers = McpServers(settings, McpApprovals(storage), "kai-bench")
        async with connected_servers(servers), Client(alone) as client:
            connection = servers.all[0]
            await until(lambda: _is_connected(connection))
            await connection.approve("echo", connection.find("echo").fingerprint, by="bench")
            definition = connection.find("echo").definition

            async def by_kai() -> None:
                await connection.call(definition, {"text": "x"}, lambda _message, _part: None)

            async def by_sdk() -> None:
                await client.call_tool("echo", {"text": "x"})

            by: dict[str, list[float]] = {"alone": [], "KAI": []}
            cpu = {"alone": 0.0, "KAI": 0.0}
            for _ in range(CALLS):
                for who, call in (("alone", by_sdk), ("KAI", by_kai)):
                    began = time.process_time()
                    by[who].append(await _timed(call))
                    cpu[who] += (time.process_time() - began) * 1_000 / CALLS
    alone_ms, kai_ms = statistics.median(by["alone"]), statistics.median(by["KAI"])
    p95 = sorted(by["KAI"])[int(CALLS * 0.95)] - sorted(by["alone"])[int(CALLS * 0.95)]
    verdict = "within" if kai_ms - alone_ms <= LIMIT_MS else "BEYOND"
    print(
        f"{name}: alone {alone_ms:.1f} ms, KAI {kai_ms:.1f} ms, added {kai_ms - alone_ms:.1f} ms "
        f"(p95 {p95:.1f} ms), {verdict} {LIMIT_MS:g} ms; processor time of this process: alone "
        f"{cpu['alone']:.1f} ms, KAI {cpu['KAI']:.1f} ms"
    )


async def _is_connected(connection: McpConnection) -> bool:
    return connection.status == "Connected"


async def _timed(call: Callable[[], Awaitable[None]]) -> float:
    began = time.perf_counter()
    await call()
    return (time.perf_counter() - began) * 1_000


async def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server: ScriptedMcp = scripted_mcp(folder / "mcp")
        stdio = server.over_stdio()
        alone = StdioServerParameters(
            command=str(stdio["command"]), args=server.arguments, env={"PYTHONPATH": str(ROOT)}
        )
        await measure("stdio", folder, {**stdio}, alone)
        with server.over_http() as url:
            await measure("http", folder, {"transport": "streamableHttp", "url": url}, url)


if __name__ == "__main__":
    asyncio.run(main())
