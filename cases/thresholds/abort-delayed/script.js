import { Rate } from 'k6/metrics';
import { sleep } from 'k6';
const bad = new Rate('bad');
export const options = { vus: 1, duration: '3s', thresholds: { bad: [{ threshold: 'rate<0.5', abortOnFail: true, delayAbortEval: '1m' }] } };
export default function () { bad.add(1); sleep(0.5); }
