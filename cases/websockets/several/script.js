import { WebSocket, Blob } from 'k6/websockets';
const W = __ENV.BASE.replace('http', 'ws');
export default async function () {
  let closed = 0;
  for (let i = 0; i < 5; i += 1) {
    const ws = new WebSocket(`${W}/ws/echo`);
    ws.onopen = () => { for (let n = 0; n < 20; n += 1) ws.send(`${i}:${n}`); };
    let got = 0;
    ws.onmessage = (e) => { if (e.data !== `${i}:${got}`) console.log('out of order', e.data); if (++got === 20) setTimeout(() => ws.close(), 10 * i); };
    ws.onclose = () => { if (++closed === 5) console.log('all closed'); };
  }
  await new Promise((done) => setTimeout(done, 5));
  console.log('end of function');
}
