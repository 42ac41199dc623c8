import { Blob } from 'k6/websockets';
export default function () {
  const blob = new Blob(['ab', new Uint8Array([99])], { type: 'text/x' });
  console.log(String(blob), `${blob}`, 'a' + blob, blob.toString(), JSON.stringify({ blob }));
  console.log(blob);
  console.log([blob].join(), { [blob]: 1 });
}
