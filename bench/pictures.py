"""What all pictures of the bench have in common. They are SVG, by matplotlib, and the same figures give the same bytes."""
import io
import re

BLUE, ORANGE, GREEN, GREY = '#0072B2', '#D55E00', '#009E73', '#BBBBBB'  # Okabe and Ito; lines differ in their dashes as well


def axes(height):
    """A figure with one pair of axes, independent of anybody's matplotlibrc; inches."""
    import matplotlib
    from matplotlib import figure
    matplotlib.rcdefaults()
    matplotlib.rcParams.update({'svg.hashsalt': 'gridtorrent', 'svg.fonttype': 'none', 'font.size': 10, 'axes.edgecolor': '#888888',
                                'font.sans-serif': ['DejaVu Sans', 'Verdana', 'Arial', 'sans-serif']})
    drawn = figure.Figure(figsize=(8.4, height), facecolor='white', layout='constrained')
    return drawn, drawn.add_subplot()


def svg(figure, ax, title):
    """The same bytes for the same picture."""
    figure.suptitle(title, fontsize=10.5, x=0.01, ha='left')
    ax.grid(axis='x' if ax.patches else 'both', color='#DDDDDD', linewidth=0.7)
    ax.set_axisbelow(True)
    ax.spines[['top', 'right']].set_visible(False)
    ax.tick_params(labelsize=9.5)
    out = io.BytesIO()
    figure.savefig(out, format='svg', metadata={'Date': None, 'Creator': None})
    return re.sub(rb'[ \t]+\n', b'\n', out.getvalue())
