import { WebSocket, Blob } from 'k6/websockets';
const W = __ENV.BASE.replace('http', 'ws');
export default function () {
  const ws = new WebSocket(`${W}/ws/binary/5`);
  ws.onmessage = async (e) => {
    const b = e.data;
    console.log(b.size, JSON.stringify(b.type), new Uint8Array(await b.arrayBuffer()).join(), (await b.bytes()).length, b.slice(1, 3).size, b.slice(1).size);
    const own = new Blob(['a\u00f6', new Uint8Array(2), new ArrayBuffer(1), new Blob(['xy'])], { type: 'text/plain' });
    console.log(own.size, own.type, (await own.slice(0, 3).text()), new Blob().size, (await new Blob(['x']).text()));
    for (const parts of [1, 'abc', [1], [null]]) { try { new Blob(parts); console.log('made'); } catch (e) { console.log(e.name, e.message.slice(0, 28)); } }
    ws.close();
  };
}
