import { WebSocket } from 'k6/websockets';
function attempt(name, body) { try { console.log(name, JSON.stringify(body())); } catch (e) { console.log(name, 'threw', e.name); } }
export default function () {
  const ws = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/echo`);
  for (const on of ['onmessage', 'onerror', 'onclose', 'onping', 'onpong']) ws[on] = () => {};
  ws.onopen = () => {
    attempt('keys', () => Object.keys(ws));
    attempt('names', () => Object.getOwnPropertyNames(ws));
    const listed = [];
    for (const name in ws) if (!/^[A-Z]+$/.test(name)) listed.push(`${name} ${typeof ws[name]}`);
    console.log(listed.join());
    attempt('serialized', () => JSON.stringify(ws).replace(__ENV.BASE.slice(4), ''));
    attempt('copied', () => Object.entries({ ...ws }).map(([name, value]) => `${name} ${typeof value}`));
    attempt('own', () => ['send', 'url', 'onopen', 'other'].map((name) => [name in ws, Object.hasOwn(ws, name)]));
    attempt('method replaced', () => { ws.send = 1; return typeof ws.send; });
    attempt('method deleted', () => delete ws.close);
    attempt('property deleted', () => delete ws.url);
    attempt('own property', () => { ws.other = 1; return [ws.other, delete ws.other, ws.other]; });
    const { send, close } = ws;
    send('text');
    ws.onmessage = (event) => { console.log(event.data); close(); };
  };
}
