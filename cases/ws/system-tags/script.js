import ws from 'k6/ws';
const W = __ENV.BASE.replace('http', 'ws');
export const options = { systemTags: ['url', 'ip', 'scenario'], insecureSkipTLSVerify: true };
export default function () {
  ws.connect(`${W}/ws/echo`, {}, (s) => s.on('open', () => { s.send('x'); s.close(); }));
  ws.connect(`${__ENV.TLS.replace('http', 'ws')}/ws/echo`, {}, (s) => s.on('open', () => s.close()));
}
