import { Blob } from 'k6/websockets';
const show = (what, value) => {
  const listed = [];
  for (const name in value) listed.push(`${name} ${typeof value[name]}`);
  console.log(what, Object.keys(value).join(), '|', listed.join(), '|', Object.getOwnPropertyNames(value).length);
  console.log(what, JSON.stringify(value), '|', Object.entries({ ...value }).map(([name, own]) => `${name} ${typeof own}`).join());
};
export default function () {
  const blob = new Blob(['abc'], { type: 'text/plain' });
  show('blob', blob);
  show('empty', new Blob());
  console.log('text' in blob, blob.hasOwnProperty('text'), blob.propertyIsEnumerable('slice'), 'nothing' in blob);
  show('part', blob.slice(1, 2));
}
