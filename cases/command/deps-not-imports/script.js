// import a from './no1.js'
/* import './no2.js' */
const s = "import x from './no3.js'";
const t = `import './no4.js'`;
export { a } from './c.js';
export default function () {}
