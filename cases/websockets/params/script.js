import { WebSocket, Blob } from 'k6/websockets';
const W = __ENV.BASE.replace('http', 'ws');
export default function () {
  for (const params of [{ foo: 1 }, { compression: 'gzip' }, { tags: { a: {} } }]) {
    try { new WebSocket(`${W}/ws/echo`, null, params); } catch (e) { console.log(e.name, e.message); }
  }
  const ws = new WebSocket(`${W}/ws/echo`, null, { jar: 1, headers: 1 });
  ws.onopen = () => { console.log('open'); ws.close(); };
}
