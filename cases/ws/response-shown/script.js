import ws from 'k6/ws';
export default function () {
  const url = `${__ENV.BASE.replace('http', 'ws')}/ws/set-cookie`;
  const r = ws.connect(url, null, (socket) => socket.on('open', () => socket.close()));
  console.log(Object.keys(r).sort().join(), r.status, r.headers.Upgrade, r.headers.Connection, r.headers['Set-Cookie']);
}
