import { SharedArray } from 'k6/data';
export default function () {
  for (const make of [() => new SharedArray('late', () => [1]), () => new SharedArray('', () => [1])]) {
    try { console.log(make().length); } catch (e) { console.log('threw', e.name); }
  }
}
