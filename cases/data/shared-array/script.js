import { SharedArray } from 'k6/data';
const list = new SharedArray('people', () => { if (__VU === 0) console.log('made once'); return [{ name: 'Ada' }, { name: 'Bob' }, 'text', 5, null]; });
export const options = { vus: 2, iterations: 2 };
export default function () {
  if (__VU !== 1) return;
}
export function teardown() {
  console.log(list.length, list[0].name, list[2], list[3], list[4], list[9], list[-1]);
  console.log(list[0] === list[0], Array.isArray(list), typeof list, [...list].length, list.map ? typeof list.map : 'no map');
  const names = []; for (const item of list) names.push(typeof item); console.log(names.join());
  console.log(JSON.stringify(list), Object.keys(list).join());
}
