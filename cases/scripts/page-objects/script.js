import { Shop } from './pages/shop.js';
import { options as shared } from './settings.js';
export const options = Object.assign({}, shared, { iterations: 1 });
export default function () {
  const shop = new Shop(__ENV.BASE);
  shop.open().add('apple').add('pear', 2);
  console.log(shop.toString(), shop.total);
}
