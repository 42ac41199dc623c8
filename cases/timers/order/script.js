export default function () {
  const log = (text) => console.log(text);
  setTimeout(() => log('30'), 30); setTimeout(() => log('10'), 10); setTimeout(() => log('0'), 0);
  Promise.resolve().then(() => log('promise')).then(() => log('promise 2'));
  (async () => { log('async'); await null; log('async 2'); })();
  log('body');
}
