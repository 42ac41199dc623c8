import { SharedArray } from 'k6/data';
const list = new SharedArray('frozen', () => [{ deep: { a: 1 } }, 2]);
export default function () {
  for (const change of [() => { list[0] = 1; }, () => { list[0].deep = 2; }, () => { list[0].deep.a = 2; }, () => { list.push(1); }, () => { list.length = 0; }, () => { delete list[0]; }]) {
    try { change(); console.log('silent'); } catch (e) { console.log('threw', e instanceof TypeError); }
  }
  console.log(JSON.stringify(list[0]), list.length);
}
