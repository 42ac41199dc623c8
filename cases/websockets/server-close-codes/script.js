import { WebSocket } from 'k6/websockets';
function parting(path) {
  return new Promise((done) => {
    const ws = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/close/${path}`);
    ws.onclose = (e) => { console.log(path, e.code, JSON.stringify(e.reason), e.type); done(); };
    ws.onerror = (e) => console.log(path, 'error', e.error);
  });
}
export default async function () {
  for (const path of ['1000', '1002/protocol', '1003/data', '1008/policy', '1009/big', '1012/again', '3000/own', '4000/%C3%A9']) await parting(path);
}
