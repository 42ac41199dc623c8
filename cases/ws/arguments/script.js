import ws from 'k6/ws';
const W = __ENV.BASE.replace('http', 'ws');
export default function () {
  const run = (...all) => { try { ws.connect(...all); console.log('fine'); } catch (e) { console.log(e.name, e.message); } };
  const close = (s) => s.on('open', () => s.close());
  run(`${W}/ws/echo`);
  run();
  run(`${W}/ws/echo`, {});
  run(`${W}/ws/echo`, {}, 1);
  run(`${W}/ws/echo`, close);
  run(`${W}/ws/echo`, {}, {}, close);
  run(`${W}/ws/echo`, { tags: { a: {} } }, close);
  run(`${W}/ws/echo`, { compression: 'gzip' }, close);
  run(`${W}/ws/echo`, { compression: '' }, close);
  run(`${W}/ws/echo`, { foo: 1, headers: 1, tags: 1, jar: 1 }, close);
  run(`${W}/ws/echo`, null, close);
  ws.connect(`${W}/ws/echo`, null, (s) => { s.on('nothing', () => 1); s.on('open', 1); close(s); });
}
