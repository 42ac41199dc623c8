import { WebSocket } from 'k6/websockets';
function opened(path) {
  return new Promise((done) => {
    const ws = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/${path}`);
    ws.onopen = () => console.log('open');
    ws.onerror = (e) => console.log(path, e.type, e.error.includes('bad handshake'), ws.readyState);
    ws.onclose = (e) => { console.log('close', e.code); done(); };
  });
}
export default async function () {
  for (const path of ['refuse/200', 'refuse/301', 'refuse/401', 'refuse/404', 'refuse/503', 'not-upgraded']) await opened(path);
}
