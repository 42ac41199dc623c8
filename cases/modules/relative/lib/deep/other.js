import { name } from '../names.js';
export const deep = `deep ${name}`;
export default () => 'default of other';
