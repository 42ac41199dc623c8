export const options = { iterations: 3, vus: 1 };
export default function () {
  if (__ITER === 1) throw new Error('only this one');
  console.log('fine');
}
