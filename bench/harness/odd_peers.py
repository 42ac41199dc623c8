#!/usr/bin/env python3
"""Servers that misbehave: `odd_peers.py reset|unread PROTOCOL FOLDER`.

`reset` accepts, reads the first bytes and resets the connection. `unread` responds once and then
sends more than any client reads, until the client closes the connection. FOLDER contains cert.pem and key.pem for
protocols over TLS. Prints `listening on 127.0.0.1:PORT` and runs until it is killed.
"""

import base64
import hashlib
import os
import socket
import ssl
import struct
import sys
import threading

FRAME_HEADERS, FRAME_DATA, FRAME_SETTINGS, FRAME_UNKNOWN = 1, 0, 4, 0xBB
END_STREAM, END_HEADERS = 1, 4
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
# HPACK without a table: `:status: 200`, `content-type: application/grpc`, `grpc-status: 0`.
RESPONSE = b"\x88\x0f\x10\x10application/grpc"
TRAILERS = b"\x00\x0bgrpc-status\x010"
HELLO_REPLY = b"\0\0\0\0\x0d\x0a\x0bHello world"


def main():
    behavior, protocol, folder = sys.argv[1:]
    if protocol == "http3":
        refuse_versions()
    serve = reset if behavior == "reset" else UNREAD[protocol]
    context = None
    if protocol == "h2":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(f"{folder}/cert.pem", f"{folder}/key.pem")
        context.set_alpn_protocols(["h2"])
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    print(f"listening on 127.0.0.1:{listener.getsockname()[1]}", flush=True)
    while True:
        peer, _ = listener.accept()
        threading.Thread(target=one, args=(serve, peer, context), daemon=True).start()


def one(serve, peer, context):
    try:
        if context:
            peer = context.wrap_socket(peer, server_side=True)
        serve(peer)
    except OSError:
        pass
    finally:
        peer.close()


def reset(peer):
    peer.recv(65536)
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def endless_header(peer):
    peer.recv(65536)
    peer.sendall(b"HTTP/1.1 200 OK\r\nX-Long: ")
    while True:
        peer.sendall(b"a" * 65536)


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def endless_frames(peer):
    """HTTP/2: a whole response, and then frames of an unknown type, which clients must ignore."""
    peer.sendall(frame(FRAME_SETTINGS, 0, 0))
    stream = request_stream(peer.makefile("rb"))
    peer.sendall(
        frame(FRAME_HEADERS, END_HEADERS, stream, RESPONSE)
        + frame(FRAME_DATA, 0, stream, HELLO_REPLY)
        + frame(FRAME_HEADERS, END_HEADERS | END_STREAM, stream, TRAILERS)
    )
    flood = frame(FRAME_UNKNOWN, 0, 0, b"x" * 16384) * 4
    while True:
        peer.sendall(flood)


def request_stream(reading):
    """The number of the stream of the first request."""
    reading.read(len(PREFACE))
    while True:
        head = reading.read(9)
        if len(head) < 9:
            raise ConnectionError
        reading.read(int.from_bytes(head[:3], "big"))
        if head[3] == FRAME_HEADERS:
            return int.from_bytes(head[5:], "big")


def endless_messages(peer):
    """WebSocket: text messages without end."""
    request = b""
    while b"\r\n\r\n" not in request:
        more = peer.recv(65536)
        if not more:
            return
        request += more
    fields = (line.split(b":", 1) for line in request.split(b"\r\n") if b":" in line)
    key = next(value.strip() for name, value in fields if name.lower() == b"sec-websocket-key")
    accept = hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
    peer.sendall(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: " + base64.b64encode(accept) + b"\r\n\r\n"
    )
    flood = (b"\x81\x7e" + struct.pack(">H", 1024) + b"x" * 1024) * 64
    while True:
        peer.sendall(flood)


def refuse_versions():
    """QUIC: responds to every packet with Version Negotiation that offers no version in use."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    listener.bind(("127.0.0.1", 0))
    print(f"listening on 127.0.0.1:{listener.getsockname()[1]}", flush=True)
    while True:
        packet, client = listener.recvfrom(65536)
        # RFC 9000, section 17.2: a long header, then both connection identifiers.
        if len(packet) < 7 or not packet[0] & 0x80:
            continue
        to = packet[6 : 6 + packet[5]]
        rest = packet[6 + len(to) :]
        if not rest or len(rest) <= rest[0]:
            continue
        source = rest[1 : 1 + rest[0]]
        response = bytes([0x80 | os.urandom(1)[0]]) + bytes(4)
        response += bytes([len(source)]) + source + bytes([len(to)]) + to
        listener.sendto(response + b"\x1a\x2a\x3a\x4a", client)


UNREAD = {
    "http1": endless_header,
    "h2c": endless_frames,
    "h2": endless_frames,
    "grpc": endless_frames,
    "websocket": endless_messages,
}

if __name__ == "__main__":
    main()
