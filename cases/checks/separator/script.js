import { check } from 'k6';
export default function () { check(1, { 'a::b': true }); }
