import { WebSocket } from 'k6/websockets';
export const options = { blockHostnames: ['*.blocked.example'], blacklistIPs: ['10.0.0.0/8'] };
function opened(url) {
  return new Promise((done) => {
    const ws = new WebSocket(url);
    ws.onerror = (e) => console.log(url, e.error.replace(/^.*?(blacklist|blocked|in a blocked).*/, '$1'));
    ws.onclose = done;
  });
}
export default async function () {
  await opened('ws://a.blocked.example/');
  await opened('ws://10.1.2.3/');
}
