import ws from 'k6/ws';
const W = __ENV.BASE.replace('http', 'ws');
export const options = { scenarios: { a: { executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '0s' } } };
export default function () {
  ws.connect(`${W}/ws/echo`, {}, (s) => { s.on('open', () => console.log('open')); s.on('close', (c) => console.log('close', c)); });
}
