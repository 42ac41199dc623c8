function inner() {
  throw new Error('deep');
}
function outer() {
  inner();
}
export default function () {
  outer();
}
