import ws from 'k6/ws';
const W = __ENV.BASE.replace('http', 'ws');
try { ws.connect(W, {}, () => 1); } catch (e) { console.log(e.name, e.message); }
const open = (where) => ws.connect(`${W}/ws/echo`, {}, (s) => s.on('open', () => { console.log(where); s.close(); }));
export function setup() { open('setup'); }
export default function () { open('iteration'); }
export function teardown() { open('teardown'); }
