import { Blob } from 'k6/websockets';
export default function () {
  for (const options of [undefined, { type: '' }, { type: 'text/plain' }, { type: 'TEXT/HTML' }, { type: 'with space' }]) {
    try { console.log(JSON.stringify(options), JSON.stringify(new Blob(['x'], options).type)); } catch (e) { console.log(JSON.stringify(options), 'threw', e.name); }
  }
}
