export const options = { iterations: 2, vus: 1 };
export default function () {
  Promise.reject(new Error('unhandled'));
  console.log('after');
}
