import { check } from 'k6';
export default function () { check(1, { fine: true }); }
