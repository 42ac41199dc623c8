import ws from 'k6/ws';
const W = __ENV.BASE.replace('http', 'ws');
export const options = { throw: true };
export default function () {
  for (const url of ['ws://127.0.0.1:1/', `${W}/ws/refuse/404`, 'http://127.0.0.1/']) {
    try { ws.connect(url, {}, () => 1); } catch (e) { console.log(e.name, e.message); }
  }
}
