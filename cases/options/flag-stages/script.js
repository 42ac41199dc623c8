import { sleep } from 'k6';
export default function () { sleep(0.05); }
