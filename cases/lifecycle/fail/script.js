import { fail } from 'k6';
export default function () { fail('on purpose'); }
