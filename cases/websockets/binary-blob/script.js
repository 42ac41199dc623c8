import { WebSocket, Blob } from 'k6/websockets';
export default function () {
  const ws = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/echo`);
  ws.onopen = () => ws.send(new Blob(['héllo']));
  ws.onmessage = async (e) => {
    console.log(ws.binaryType, e.data instanceof Blob, e.data.size, JSON.stringify(e.data.type));
    console.log(await e.data.text(), new Uint8Array(await e.data.arrayBuffer()).length, (await e.data.bytes())[1]);
    ws.close();
  };
}
