"""Runs a command in a network where 10.9.0.2 is this machine seen through a tunnel.

    unshare --net --map-root-user python3 tunnel.py DROP keep|close PORTS COMMAND…

What is sent to 10.9.0.2 comes back as if 10.9.0.2 had sent it to 10.9.0.1, where a server
listens at port 7000; every DROP-th packet is lost, none with 0. With `close` the server asks
for a new connection each time, and lets the client close first. PORTS is the range of local
ports, "40000 40099". Exit status 77: there is no such network to be had here.
"""

import fcntl
import os
import socket
import struct
import subprocess
import sys
import threading

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000


def main():
    drop, closes, ports, command = int(sys.argv[1]), sys.argv[2] == "close", sys.argv[3], sys.argv[4:]
    try:
        tunnel = os.open("/dev/net/tun", os.O_RDWR)
        fcntl.ioctl(tunnel, TUNSETIFF, struct.pack("16sH", b"lossy", IFF_TUN | IFF_NO_PI))
        for line in ("addr add 10.9.0.1/24 dev lossy", "link set lossy up", "link set lo up"):
            subprocess.run(["ip", *line.split()], check=True)
        with open("/proc/sys/net/ipv4/ip_local_port_range", "w") as setting:
            setting.write(ports)
        listener = socket.create_server(("10.9.0.1", 7000), backlog=512)
    except (OSError, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        sys.exit(77)
    for work in ((_reflect, tunnel, drop), (_accept, listener, closes)):
        threading.Thread(target=work[0], args=work[1:], daemon=True).start()
    sys.exit(subprocess.run(command).returncode)


def _reflect(tunnel, drop):
    number = 0
    while True:
        packet = os.read(tunnel, 65_535)
        if packet[0] >> 4 != 4:
            continue
        number += 1
        if drop and number % drop == 0:
            continue
        # The addresses change places, so the checksums stay right.
        os.write(tunnel, packet[:12] + packet[16:20] + packet[12:16] + packet[20:])


def _accept(listener, closes):
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=_serve, args=(connection, closes), daemon=True).start()


def _serve(connection, closes):
    extra = b"connection: close\r\n" if closes else b""
    held = b""
    try:
        while read := connection.recv(65_536):
            held += read
            while b"\r\n\r\n" in held:
                _, held = held.split(b"\r\n\r\n", 1)
                connection.sendall(b"HTTP/1.1 200 OK\r\n" + extra + b"content-length: 2\r\n\r\nok")
    except OSError:
        pass
    connection.close()


main()
