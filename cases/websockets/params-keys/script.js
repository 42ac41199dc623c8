import { WebSocket } from 'k6/websockets';
const url = `${__ENV.BASE.replace('http', 'ws')}/ws/echo`;
export default function () {
  for (const params of [undefined, null, {}, { Headers: {} }, { header: {} }, { timeout: 5 }, { tags: {}, headers: {} }, { headers: null }, { headers: [] }, { jar: null }, { compression: null }, 'text', 5, [], true]) {
    try { const ws = new WebSocket(url, null, params); ws.onopen = () => ws.close(); console.log(JSON.stringify(params), 'made'); } catch (e) { console.log(JSON.stringify(params), 'threw', e.name); }
  }
}
