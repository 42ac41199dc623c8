import ws, { connect } from 'k6/ws';
export default function () {
  const url = `${__ENV.BASE.replace('http', 'ws')}/ws/echo`;
  console.log(typeof ws.connect, typeof connect, Object.keys(ws).join());
  const r = connect(url, (socket) => { socket.on('open', () => socket.close()); });
  console.log(r.status, r.url === url, typeof r.headers, JSON.stringify(r.body), JSON.stringify(r.error));
}
