import { sleep } from 'k6';
export default function () {
  const begun = Date.now();
  setTimeout(() => console.log('timer', Date.now() - begun >= 95), 10);
  sleep(0.1);
  console.log('slept', Date.now() - begun >= 95);
  sleep(0); sleep(-1); sleep('0.01'); sleep();
}
