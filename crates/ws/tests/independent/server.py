"""A server by PyPI's `websockets`, which shares no code with what is tested.

It prints three ports: of a listener without compression, of one that
compresses as the client wishes, and of one with a small window and fresh contexts. What it does
with a connection goes by the path.
"""

import asyncio
import sys

from websockets.asyncio.server import serve
from websockets.extensions.permessage_deflate import ServerPerMessageDeflateFactory


async def handle(connection):
    what = connection.request.path.split("/")[-1]
    if what == "fragments":
        await connection.send(["one ", "tw", "\u00f6 ", "", "three"])
        await connection.send([b"\x00\x01", b"", b"\x02"])
    if what == "ping":
        await (await connection.ping(b"beat"))
        await connection.send("the pong came")
    if what == "close":
        await connection.close(4321, "so it is")
        return
    async for message in connection:
        await connection.send(message)


async def main():
    ports = []
    fresh = dict(server_no_context_takeover=True, client_no_context_takeover=True)
    async with (
        serve(handle, "127.0.0.1", 0, compression=None, subprotocols=["second"], max_size=None) as plain,
        serve(
            handle, "127.0.0.1", 0, compression=None, max_size=None,
            extensions=[ServerPerMessageDeflateFactory()],
        ) as kept,
        serve(
            handle, "127.0.0.1", 0, compression=None, max_size=None,
            extensions=[ServerPerMessageDeflateFactory(server_max_window_bits=9, **fresh)],
        ) as bits,
    ):
        for server in (plain, kept, bits):
            ports.append(str(server.sockets[0].getsockname()[1]))
        print(*ports, flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


asyncio.run(main())
