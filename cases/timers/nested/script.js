export default function () {
  setTimeout(() => { console.log('1'); Promise.resolve().then(() => console.log('1a')); setTimeout(() => console.log('1b'), 0); }, 0);
  setTimeout(() => console.log('2'), 0);
  Promise.resolve().then(() => console.log('before'));
  setTimeout(() => console.log('3'), 20);
  console.log('end');
}
