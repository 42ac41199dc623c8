import { WebSocket } from 'k6/websockets';
import { check } from 'k6';
function ask(text) {
  return new Promise((resolve, reject) => {
    const ws = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/echo`);
    ws.onopen = () => ws.send(text);
    ws.onmessage = (e) => { resolve(e.data); ws.close(); };
    ws.onerror = (e) => reject(new Error(e.error));
  });
}
export default async function () {
  const all = await Promise.all([ask('one'), ask('two')]);
  console.log(all.join());
  check(await ask('three'), { 'is three': (text) => text === 'three' });
}
