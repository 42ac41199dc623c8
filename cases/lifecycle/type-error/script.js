export const options = { iterations: 3, vus: 1 };
export default function () {
  if (__ITER === 0) undefined.property;
  if (__ITER === 1) missing();
  if (__ITER === 2) (12)();
}
