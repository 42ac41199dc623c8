import { WebSocket, Blob } from 'k6/websockets';
const W = __ENV.BASE.replace('http', 'ws');
export default function () {
  const ws = new WebSocket(`${W}/ws/ping`);
  ws.onping = (e) => console.log(e.type, Object.keys(e).join());
  ws.onmessage = (e) => { console.log(e.data); ws.close(); };
  const other = new WebSocket(`${W}/ws/echo`);
  let pongs = 0;
  other.onopen = () => { other.ping(); other.ping(); };
  other.onpong = () => { if (++pongs === 2) other.close(); };
}
