"""Parts of invented names of people, companies and products, and their frequencies."""

FIRST = (
    "Ada Anouk Arno Bela Birte Carlo Celia Dara Deniz Edda Elio Enya Fabio Freya Gita Goran Hana Hugo Ida "
    "Ilja Imani Jaro Jette Kai Kerem Lale Lars Leni Lior Mads Malin Marek Mila Nadia Niko Nuria Olga "
    "Oskar Pavel Petra Quinn Rafa Rhea Samir Selma Sofia Taro Tilda Uma Urs Vera Vito Wanda Yara Yusuf "
    "Zeno Zoe "
).split()
LAST = (
    "Abel Acker Alder Baptist Berger Birk Brook Calder Corvo Dahl Dorn Eberle Elm Falk Farrow Fenn Garde "
    "Glen Greve Hale Harrow Heath Holm Ivens Jansen Juhl Kerr Kestrel Lind Lorne Marsh Moor Nagel Nordin "
    "Oakes Olsen Pike Pohl Quist Rand Reed Rook Sand Serra Stein Stone Tarn Thorn Ulric Vale Voss Wald "
    "Weir Wren Yates Zander "
).split()

PLACES: dict[str, dict[str, tuple[str, ...]]] = {
    "North": {
        "Sweden": ("Stockholm", "Gothenburg", "Malmo"),
        "Norway": ("Oslo", "Bergen"),
        "Denmark": ("Copenhagen", "Aarhus"),
    },
    "Central": {
        "Germany": ("Berlin", "Hamburg", "Munich", "Cologne"),
        "Austria": ("Vienna", "Graz", "Innsbruck"),
        "Switzerland": ("Zurich", "Bern"),
    },
    "West": {
        "France": ("Paris", "Lyon", "Grenoble"),
        "Netherlands": ("Amsterdam", "Utrecht"),
        "United Kingdom": ("London", "Leeds", "Edinburgh"),
    },
    "South": {"Italy": ("Milan", "Turin", "Bologna"), "Spain": ("Madrid", "Bilbao", "Valencia")},
}
REGION_WEIGHTS = {"North": 0.18, "Central": 0.42, "West": 0.27, "South": 0.13}

# By category: kinds of product, lowest and highest price, and factors of sales from January to December.
CATEGORIES: dict[str, tuple[tuple[str, ...], float, float, tuple[float, ...]]] = {
    "Tents": (
        ("Dome Tent", "Tunnel Tent", "Bivouac", "Tarp", "Family Tent"),
        89,
        640,
        (0.5, 0.6, 0.9, 1.2, 1.6, 1.9, 1.9, 1.5, 0.9, 0.6, 0.7, 0.8),
    ),
    "Sleeping Bags": (
        ("Down Bag", "Summer Bag", "Liner", "Quilt"),
        29,
        420,
        (0.8, 0.8, 0.9, 1.1, 1.3, 1.5, 1.5, 1.2, 0.9, 0.8, 1.0, 1.2),
    ),
    "Backpacks": (
        ("Day Pack", "Trekking Pack", "Hip Pack", "Child Carrier"),
        35,
        310,
        (0.8, 0.8, 1.0, 1.1, 1.3, 1.3, 1.2, 1.1, 1.0, 0.9, 1.1, 1.4),
    ),
    "Footwear": (
        ("Hiking Boot", "Trail Shoe", "Sandal", "Winter Boot"),
        59,
        290,
        (0.9, 0.8, 1.0, 1.1, 1.2, 1.1, 1.0, 1.0, 1.1, 1.2, 1.3, 1.4),
    ),
    "Clothing": (
        ("Rain Jacket", "Fleece", "Base Layer", "Trekking Trousers", "Down Jacket", "Beanie"),
        19,
        380,
        (1.1, 0.9, 0.9, 0.8, 0.8, 0.8, 0.7, 0.8, 1.1, 1.4, 1.8, 2.0),
    ),
    "Cooking": (
        ("Gas Stove", "Pot Set", "Spork", "Water Filter", "Coffee Press"),
        6,
        130,
        (0.7, 0.7, 0.9, 1.1, 1.4, 1.6, 1.6, 1.3, 0.9, 0.8, 1.1, 1.4),
    ),
    "Lighting": (
        ("Headlamp", "Lantern", "Light String"),
        12,
        140,
        (0.9, 0.8, 0.8, 0.8, 0.9, 1.0, 1.0, 1.0, 1.1, 1.3, 1.7, 1.9),
    ),
    "Climbing": (
        ("Rope", "Harness", "Chalk Bag", "Helmet", "Quickdraw Set"),
        14,
        260,
        (0.8, 0.8, 1.0, 1.2, 1.4, 1.4, 1.3, 1.2, 1.1, 0.9, 0.9, 1.1),
    ),
}
SERIES = ("Fjord", "Ridge", "Summit", "Willow", "Granite", "Heron", "Drift", "Ember", "Lynx", "Polar")
COMPANIES = ("Outfitters", "Expeditions", "Alpine School", "Scout Group", "Sports Club", "Travel", "Rentals")
SEGMENTS = {"consumer": (0.80, 0.0), "business": (0.14, 0.10), "club": (0.06, 0.15)}
"""Share of customers and usual discount, by segment."""

JOB_TITLES = ("Sales Advisor", "Sales Advisor", "Senior Advisor", "Service Agent")
CHANNELS = {"web": 0.58, "store": 0.27, "phone": 0.05, "marketplace": 0.10}
RETURN_REASONS = {"wrong size": 0.45, "defect": 0.2, "changed mind": 0.25, "late delivery": 0.1}
