export const options = { iterations: 2, vus: 1 };
export default function () {
  setTimeout(() => console.log(`timer of ${__ITER}`), 30);
  Promise.resolve().then(() => console.log(`promise of ${__ITER}`));
  console.log(`body of ${__ITER}`);
}
