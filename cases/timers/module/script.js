import { setTimeout as later, clearTimeout as stop, setInterval, clearInterval } from 'k6/timers';
export default function () { const id = later(() => console.log('never'), 10); stop(id); later(() => console.log('later'), 5); }
