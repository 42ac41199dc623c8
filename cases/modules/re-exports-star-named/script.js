import { get, own, post } from './http.js';
export default function () { console.log(typeof get, own, post); }
