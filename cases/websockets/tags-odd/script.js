import { WebSocket } from 'k6/websockets';
const url = `${__ENV.BASE.replace('http', 'ws')}/ws/echo`;
export default function () {
  for (const tags of [{ a: 'text', b: 1, c: true }, { d: null }, { e: undefined }, { f: [1] }, { g: { h: 1 } }, { url: 'mine', status: '7' }, {}, null]) {
    try { const ws = new WebSocket(url, null, { tags }); ws.onopen = () => ws.close(); console.log('made', JSON.stringify(tags)); } catch (e) { console.log('threw', JSON.stringify(tags), e.name); }
  }
}
