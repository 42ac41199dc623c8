import { x } from './nowhere.js';
export default function () {}
