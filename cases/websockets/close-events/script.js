import { WebSocket } from 'k6/websockets';
function closed(close) {
  return new Promise((done) => {
    const ws = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/echo`);
    ws.onopen = () => close(ws);
    ws.onclose = (e) => { console.log(e.type, e.code, JSON.stringify(e.reason), e.wasClean); done(); };
  });
}
export default async function () {
  await closed((ws) => ws.close());
  await closed((ws) => ws.close(1000));
  await closed((ws) => ws.close(3000, 'own reason'));
  await closed((ws) => ws.close(4999, 'ünïcode'));
}
