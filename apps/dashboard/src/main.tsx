import { render } from 'preact';
import { App } from './app.js';
import './style.css';

const place = document.querySelector('#page');
if (place) render(<App />, place);
